package certificates

import (
	"bytes"
	"crypto/x509"
	"net"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

var inService = Options{Service: types.NamespacedName{Namespace: "ns", Name: "svc"}, Hosts: []string{"127.0.0.1:9443"}}

func completed(t *testing.T, o Options) Options {
	t.Helper()
	o, err := o.complete()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// replica is a user of the contents, as a process would be, with a clock of its own.
type replica struct {
	t       *testing.T
	options Options
	now     time.Time
	stored  contents
}

func (r *replica) outlook() *outlook {
	r.t.Helper()
	return r.stored.read(r.now, r.options)
}

// step advances once, and reports whether something changed.
func (r *replica) step(inPlace bool) bool {
	r.t.Helper()
	after, again, err := r.stored.advance(r.now, r.options, inPlace)
	if err != nil {
		r.t.Fatal(err)
	}
	changed := len(after) != len(r.stored)
	for key := range after {
		changed = changed || !bytes.Equal(after[key], r.stored[key])
	}
	if !changed && !again.After(r.now) {
		r.t.Fatalf("at %v nothing changes, and the next look is at %v", r.now, again)
	}
	r.stored = after
	return changed
}

// trusts reports whether who trusts the bundle trusts what is served.
func trusts(t *testing.T, bundle []byte, o *outlook, now time.Time) bool {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(bundle)
	_, err := o.serving.Leaf.Verify(x509.VerifyOptions{Roots: pool, CurrentTime: now, DNSName: "svc.ns.svc"})
	return err == nil
}

func TestAFirstStepMakesACertificateForAllNames(t *testing.T) {
	r := &replica{t: t, options: completed(t, inService), now: time.Now()}
	if !r.step(false) || r.step(false) {
		t.Fatal("the first step is not the only one")
	}
	o := r.outlook()
	if o.serving == nil || o.signer == nil || o.next != nil || !trusts(t, o.bundle(), o, r.now) {
		t.Fatalf("made %+v", o)
	}
	for _, name := range []string{"svc.ns.svc", "svc.ns.svc.cluster.local", "127.0.0.1"} {
		if err := o.serving.Leaf.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	if life := o.serving.Leaf.NotAfter.Sub(r.now); life > defaultValidity || life < defaultValidity-time.Minute {
		t.Errorf("the serving certificate is valid for %v", life)
	}
}

func TestInALifetimeNothingUntrustedIsEverServed(t *testing.T) {
	const day = 24 * time.Hour
	r := &replica{t: t, options: completed(t, inService), now: time.Now()}
	r.step(false)
	var (
		known    = r.outlook().bundle() // what API servers know
		since    = r.now                // since when they are behind
		behind   = false
		signers  = map[string]bool{}
		leaves   = map[string]bool{}
		slowness = 40 * time.Second // how long API servers take to notice, less than Propagation
	)
	for end := r.now.Add(750 * day); r.now.Before(end); {
		for range 5 {
			if !r.step(!behind && bytes.Equal(known, r.outlook().bundle()) || behind && r.now.Sub(since) > time.Second) {
				break
			}
		}
		o := r.outlook()
		if !bytes.Equal(known, o.bundle()) && !behind {
			behind, since = true, r.now
		}
		if behind && r.now.Sub(since) >= slowness {
			known, behind = o.bundle(), false
		}
		if o.serving == nil || !trusts(t, known, o, r.now) {
			t.Fatalf("at %v what is served is not trusted by those who are slow", r.now)
		}
		if o.serving.Leaf.NotAfter.Sub(r.now) < 10*day {
			t.Fatalf("at %v the certificate is about to expire", r.now)
		}
		signers[o.serving.Leaf.Issuer.CommonName], leaves[string(o.serving.Certificate[0])] = true, true
		if o.next != nil {
			r.now = r.now.Add(10 * time.Second)
		} else {
			r.now = r.now.Add(2 * day)
		}
		if behind {
			r.now = since.Add(min(r.now.Sub(since), slowness))
		}
	}
	if len(signers) < 4 || len(leaves) < 12 {
		t.Errorf("%d authorities and %d certificates in 750 days", len(signers), len(leaves))
	}
	if n := len(r.outlook().trusted); n > 2 {
		t.Errorf("%d authorities are trusted in the end", n)
	}
}

func TestTheNextAuthorityWaitsUntilItIsKnownEverywhere(t *testing.T) {
	r := &replica{t: t, options: completed(t, inService), now: time.Now()}
	r.step(true)
	first := r.outlook().signer.cert
	r.now = due(first)
	if !r.step(true) || r.outlook().next == nil {
		t.Fatal("no next authority is made when it is time")
	}
	// The certificate is due as well, and renewed by the old authority.
	for r.step(false) {
	}
	r.now = r.now.Add(time.Hour)
	if r.step(false); !r.outlook().signer.cert.Equal(first) || !r.outlook().known.IsZero() {
		t.Fatal("the next authority goes on though it is not in place")
	}
	if !r.step(true) || r.outlook().known.IsZero() {
		t.Fatal("that it is in place is not noted")
	}
	r.now = r.now.Add(r.options.Propagation - time.Second)
	if r.step(true) {
		t.Fatal("it does not wait for API servers to notice")
	}
	r.now = r.now.Add(time.Second)
	if r.step(false) {
		t.Fatal("it goes on though the bundle was taken away meanwhile")
	}
	if !r.step(true) || r.outlook().signer.cert.Equal(first) || r.outlook().next != nil {
		t.Fatal("the next authority does not sign in the end")
	}
	if !slices.ContainsFunc(r.outlook().trusted, first.Equal) {
		t.Error("the old authority is not trusted any more")
	}
}

func TestDamageIsRepaired(t *testing.T) {
	for name, damage := range map[string]func(contents){
		"no certificate":        func(c contents) { delete(c, keyCert) },
		"another key":           func(c contents) { c[keyCertKey] = c[keySigner] },
		"no authority":          func(c contents) { delete(c, keySigner) },
		"garbage for authority": func(c contents) { c[keyTrusted] = []byte("garbage") },
		"all garbage": func(c contents) {
			for key := range c {
				c[key] = []byte("garbage")
			}
		},
		"nothing left": func(c contents) { clear(c) },
		"garbage for the next authority": func(c contents) {
			c[keyNext], c[keyNextKey], c[keyNextKnown] = []byte("x"), []byte("y"), []byte("z")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &replica{t: t, options: completed(t, inService), now: time.Now()}
			r.step(true)
			damage(r.stored)
			for range 5 {
				r.step(true)
				r.now = r.now.Add(r.options.Propagation)
			}
			if o := r.outlook(); o.serving == nil || o.signer == nil || !trusts(t, o.bundle(), o, r.now) {
				t.Errorf("repaired to %+v", o)
			}
		})
	}
}

func TestALostAuthorityIsReplacedWhileTheOldCertificateGoesOn(t *testing.T) {
	r := &replica{t: t, options: completed(t, inService), now: time.Now()}
	r.step(true)
	before := r.outlook()
	r.stored = r.stored.withoutAuthority()
	if !r.step(true) {
		t.Fatal("nothing is done about it")
	}
	if o := r.outlook(); o.next == nil || !o.serving.Leaf.Equal(before.serving.Leaf) || !trusts(t, o.bundle(), o, r.now) {
		t.Errorf("now %+v", o)
	}
}

func TestWhatIsLostIsReplacedWithoutDistrustOfWhoWasToSignNext(t *testing.T) {
	options := inService
	options.CAValidity, options.Validity = 30*24*time.Hour, 29*24*time.Hour // so that a certificate outlives the time of the next authority
	slow := &replica{t: t, options: completed(t, options), now: time.Now()}
	slow.step(true)
	slow.now = due(slow.outlook().signer.cert)
	slow.step(true) // the next authority is made
	slow.step(true) // and known everywhere
	fast := *slow
	fast.now = fast.now.Add(fast.options.Propagation)
	if !fast.step(true) || fast.outlook().serving.Leaf.Issuer.CommonName == slow.outlook().serving.Leaf.Issuer.CommonName {
		t.Fatalf("the next authority does not sign: %+v", fast.outlook())
	}

	// The Secret is lost before the slow replica has seen that.
	slow.stored = slow.stored.withoutAuthority()
	for range 2 {
		if o := slow.outlook(); !trusts(t, o.bundle(), fast.outlook(), slow.now) || !trusts(t, o.bundle(), o, slow.now) {
			t.Errorf("not trusted everywhere any more: %+v", o)
		}
		slow.step(true)
	}
}

func TestANewNameGetsACertificateAtOnce(t *testing.T) {
	r := &replica{t: t, options: completed(t, inService), now: time.Now()}
	r.step(true)
	signer := r.outlook().signer.cert
	r.options.Hosts = append(r.options.Hosts, "webhooks.example.com")
	if !r.step(true) {
		t.Fatal("nothing is done about it")
	}
	o := r.outlook()
	if o.serving == nil || o.serving.Leaf.VerifyHostname("webhooks.example.com") != nil || !o.signer.cert.Equal(signer) {
		t.Errorf("now %+v", o)
	}
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"no address":           {},
		"negative":             {Hosts: []string{"h"}, Secret: types.NamespacedName{Namespace: "ns"}, Validity: -1},
		"too slow to notice":   {Hosts: []string{"h"}, Secret: types.NamespacedName{Namespace: "ns"}, CAValidity: time.Minute},
		"outside of a cluster": {Service: types.NamespacedName{Name: "svc"}},
	} {
		if _, err := o.complete(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if o := completed(t, inService); o.Secret != (types.NamespacedName{Namespace: "ns", Name: "svc-certificates"}) || o.Propagation != time.Minute {
		t.Errorf("completed to %+v", o)
	}
	o := Options{Hosts: []string{"a:1", "b", "[::1]:2"}}
	for host, want := range map[string]bool{"a:1": true, "a": false, "a:2": false, "b": true, "b:5": true, "[::1]:2": true, "c": false} {
		if o.reachedBy(host) != want {
			t.Errorf("reached by %s: %v", host, !want)
		}
	}
	if names, addresses := o.names(); !slices.Equal(names, []string{"a", "b"}) || len(addresses) != 1 || !addresses[0].Equal(net.IPv6loopback) {
		t.Errorf("names %v, addresses %v", names, addresses)
	}
}

func TestAfterAllHasExpiredEverythingIsMadeAnewAtOnce(t *testing.T) {
	r := &replica{t: t, options: completed(t, inService), now: time.Now()}
	r.step(true)
	r.now = r.now.Add(defaultCAValidity + time.Hour)
	if o := r.outlook(); o.serving != nil || o.signer != nil || len(o.bundle()) > 0 {
		t.Fatalf("something is still valid: %+v", o)
	}
	if !r.step(false) {
		t.Fatal("nothing is done about it")
	}
	if o := r.outlook(); o.serving == nil || o.next != nil || len(o.trusted) != 1 || !trusts(t, o.bundle(), o, r.now) {
		t.Errorf("now %+v", o)
	}
}
