/** The fields without those that are undefined or null, because absent and undefined differ in types and in JSON. */
export function omitUndefined<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: Exclude<Fields[Key], undefined | null> } {
  const kept: { [Key in keyof Fields]?: Exclude<Fields[Key], undefined | null> } = {}
  for (const key in fields) {
    const value = fields[key]
    if (isGiven(value)) kept[key] = value
  }
  return kept
}

const isGiven = <Value>(value: Value): value is Exclude<Value, undefined | null> =>
  value !== undefined && value !== null
