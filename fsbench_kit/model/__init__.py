"""The words of the kit: units, vocabulary, records, errors; what everything else is said in."""
