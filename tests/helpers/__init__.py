"""What the tests share: slow references, random input, damaged files, and small engines."""
