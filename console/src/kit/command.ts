/** A `gatehouse` command. An option is a flag if it is `true`, and left out if it is undefined. */
export function command(verb: string, options: Readonly<Record<string, string | true | undefined>> = {}): string {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return [
    'gatehouse',
    verb,
    ...given.map(([name, value]) => (value === true ? `--${name}` : `--${name} ${quoted(value ?? '')}`)),
  ].join(' ')
}

/** One word for a POSIX shell. */
export const quoted = (value: string): string =>
  /^[\w.,:/@-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`
