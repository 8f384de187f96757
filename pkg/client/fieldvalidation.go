package client

// WithFieldValidation returns a client whose writes have their fields validated in that way, unless an option of the call
// names another. Apply is always strict.
func WithFieldValidation(c Client, validation FieldValidation) Client {
	return &optionsClient{Client: c, first: validation}
}
