"""The kinds of tools that are not functions, each as a function and back."""
