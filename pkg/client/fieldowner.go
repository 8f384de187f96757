package client

// WithFieldOwner returns a client whose writes are made as fieldOwner, unless an option of the call names another.
func WithFieldOwner(c Client, fieldOwner string) Client {
	return &optionsClient{Client: c, first: FieldOwner(fieldOwner)}
}
