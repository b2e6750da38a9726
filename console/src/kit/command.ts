/** A `gatehouse` command. Options without a value are left out. */
export function command(verb: string, options: Record<string, string | undefined> = {}): string {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  return [
    'gatehouse',
    verb,
    ...given.map(([name, value]) => (value === '' ? `--${name}` : `--${name} ${quoted(value ?? '')}`)),
  ].join(' ')
}

/** One word for a POSIX shell. */
export const quoted = (value: string): string =>
  /^[\w.,:/@-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`
