/** How the tool is used, as `--help` prints it. */
export const USAGE = `Works on the event log that EVENT_LOG names, also while the service runs.

Usage: asmx-webhook-events [--since WHEN] [--follow]
       asmx-webhook-events [--since WHEN] [--follow] --forward URL [--position FILE] [--raw] [--skip-refused]
       asmx-webhook-events --export FILE [--since WHEN] | --import FILE | --backup FILE
       asmx-webhook-events --verify | --compact | --forget ID...

  --since WHEN    prints the events since a duration ago (2h, 30d, P1DT12H), a time (RFC 3339) or after a sequence
  --follow        prints events as they are recorded: those --since, or from now on
  --export FILE   writes all events, or those --since, to a new file
  --import FILE   records the events of a file that are not in the log yet
  --backup FILE   copies a log in SQLite, as it is at one moment, to a new file
  --verify        looks for damage in the log and in each event; a line for each finding
  --compact       gives the space of forgotten events in a SQLite file back to the file system
  --forget ID...  removes events for good, each named by its id or its sequence
  --help          prints this page
  --version       prints the version

One CloudEvent a line (NDJSON), with what the log keeps beside it in the member _log. FILE may be - for standard output or
input, except for --backup and --position.

With --forward:

  --forward URL    posts the events to an address instead of printing them, in order, each until it was taken
  --position FILE  keeps in a file how far that came, and goes on from there the next time, whatever --since says then
  --raw            posts the payload as it came, instead of the CloudEvent
  --skip-refused   passes over events that are answered with 4xx, instead of ending
  --secret SECRET  signs what is posted (Standard Webhooks) with whsec_ and base64; all users of the machine see arguments,
                   but not the variable FORWARD_SECRETS

Exit code: 0 done, 1 failed or (--verify) not whole, 2 arguments that make no sense, 3 the address refused an event or redirected it.`;
