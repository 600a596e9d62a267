package config

// ParseAfter is Parse for a new version of the file of a configuration.
func ParseAfter(before *Config, path string, data []byte, environ []string) (*Config, error) {
	return parseAfter(before.known, path, data, environ)
}

// Unknown returns what is read of a new version of the file of a configuration.
func Unknown(before *Config, data []byte) []byte {
	reduced, _ := before.known.reduce(data)
	return reduced
}
