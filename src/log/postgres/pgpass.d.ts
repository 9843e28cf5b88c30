/** Reads the password files of PostgreSQL's own programs. */
declare module 'pgpass' {
  /** Calls back with the password that `PGPASSFILE` or `~/.pgpass` has for a connection, or with undefined. */
  export default function pgpass(connection: object, found: (password: string | undefined) => void): void;
}
