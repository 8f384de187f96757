package client

// NewDryRunClient returns a client that reads like c, and whose every write is a dry run, whatever options it is given.
func NewDryRunClient(c Client) Client {
	return &optionsClient{Client: c, last: DryRunAll}
}
