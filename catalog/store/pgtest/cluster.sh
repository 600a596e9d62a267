# Makes a cluster in the folder $2 with the programs in $1 and the settings $3, runs it until
# its standard input ends, and removes it. The input is a pipe from the process of the tests, so
# the server ends with it, however it ends. The collation is not "C", so that a column without
# a collation of its own shows.
set -e
"$1/initdb" -D "$2/data" -U repoglot -A trust -E UTF8 --locale=C.UTF-8 --locale-provider=icu --icu-locale=en --no-sync --no-instructions >"$2/log" 2>&1
cat >>"$2/data/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$2'
max_connections = 400
$3
END
"$1/postgres" -D "$2/data" >>"$2/log" 2>&1 &
server=$!
read -r _ || true
kill -INT $server
wait $server || true
rm -rf "$2"
