package check

// File is the verdict on a file without quality checks and template.
func File(name string, data []byte) Result { return verdict(name, data, nil, nil) }
