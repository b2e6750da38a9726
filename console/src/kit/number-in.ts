/** A number, with a point or a comma before its decimals. `1,000` is none, because it can mean 1 or 1000. */
export function numberIn(typed: string): number {
  const text = typed.trim()
  return text === '' || /,\d{3}$/.test(text) ? Number.NaN : Number(text.replace(',', '.'))
}
