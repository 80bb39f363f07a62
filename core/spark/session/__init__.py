"""The one Spark of this process: its Java, its JVM, its errors."""
