/** Reads the password files of PostgreSQL's own programs. */
declare module 'pgpass' {
  export interface PasswordOf {
    readonly host?: string;
    readonly port?: number;
    readonly database?: string;
    readonly user?: string;
  }
  /** Calls back with the password that `PGPASSFILE` or `~/.pgpass` has, or with undefined. */
  export default function pgpass(connection: PasswordOf, found: (password: string | undefined) => void): void;
}
