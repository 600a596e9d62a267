# Gives the folder $1 to the user postgres or, without it, to nobody, and runs the other
# arguments as that user, in a session of their own.
user=postgres
id -u $user >/dev/null 2>&1 || user=nobody
chown $user "$1"
shift
exec setsid setpriv --reuid=$user --regid="$(id -g $user)" --clear-groups "$@"
