"""What the importers of foreign conversations share; one package for each format uses it.

What an importer keeps beside a record's fields, and how it is put back, stands
here too: the exporters of this package and the compiler's projections read it.
"""
