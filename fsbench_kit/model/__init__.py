"""The shared vocabulary: units, words, codes, records, frame schemas and errors. Every room builds on it."""
