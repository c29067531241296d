"""The words of the kit: units, vocabulary, records, frame schemas, errors; what everything else is said in."""
