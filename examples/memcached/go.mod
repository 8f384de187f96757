module github.com/operon-dev/operon/examples/memcached

go 1.26.0

replace github.com/operon-dev/operon => ../..
