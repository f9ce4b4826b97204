"""The product's main promises shown on the real command: over HTTP, in its log and in what it stores."""
