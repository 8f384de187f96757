package cluster

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/operon-dev/operon/cmd/operon/cluster/etcd"
)

// Orders are what the program that started a cluster, or borrows it, may ask of it: a line each, answered with a line that begins
// with the order, or with "error: ".
//
//	mark     remember the present state              mark in 0.002s
//	reset    go back to it                           reset in 0.004s
//	sign {"name":"jane","groups":["dev"]}            sign {"cert":"-----BEGIN ...","key":"-----BEGIN ..."}
type orders struct {
	cluster *Cluster
	mark    *etcd.Mark
}

var (
	errNoMark = errors.New("nothing is marked to which to go back: mark first")
	errNoName = errors.New("a user needs a name")
)

// user is what "sign" makes a client certificate for.
type user struct {
	Name   string   `json:"name"`
	Groups []string `json:"groups,omitempty"`
}

type credentials struct {
	Cert string `json:"cert"`
	Key  string `json:"key"`
}

// serve answers orders until there are no more, or the answers have no reader.
func (o *orders) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		answer, err := o.obey(ctx, lines.Text())
		if err != nil {
			answer = "error: " + strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		if _, err := fmt.Fprintln(out, answer); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

func (o *orders) obey(ctx context.Context, line string) (answer string, err error) {
	began := time.Now()
	order, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch order {
	case "mark":
		o.mark, err = o.cluster.Mark(ctx)
	case "reset":
		if o.mark == nil {
			return "", errNoMark
		}
		err = o.cluster.Reset(ctx, o.mark)
	case "sign":
		return o.sign(rest)
	default:
		return "", fmt.Errorf("%q is not an order: mark, reset and sign are", order)
	}
	return fmt.Sprintf("%s in %.3fs", order, time.Since(began).Seconds()), err
}

func (o *orders) sign(what string) (string, error) {
	var u user
	if err := json.Unmarshal([]byte(what), &u); err != nil {
		return "", fmt.Errorf("user: %w", err)
	}
	if u.Name == "" {
		return "", errNoName
	}
	cert, key, err := o.cluster.keys.Client(u.Name, u.Groups)
	if err != nil {
		return "", err
	}
	answer, err := json.Marshal(credentials{Cert: string(cert), Key: string(key)})
	return "sign " + string(answer), err
}
