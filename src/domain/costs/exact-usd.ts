/** Decimal places of a micro-credit. */
const microPlaces = 6

/** Micro-credits in dollars, with as many decimals as the exact amount has and without an exponent, so that sums of them are exact. */
export function exactUsd(costMicro: number, creditUsd: number): string {
  const price = decimalOf(creditUsd)
  return textOf({ units: BigInt(costMicro) * price.units, places: price.places + microPlaces })
}

/** `units` divided by ten to the power of `places`. */
type Decimal = { readonly units: bigint; readonly places: number }

/** The decimal that a number is written as. */
function decimalOf(value: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const units = BigInt(whole + fraction)
  const places = fraction.length - Number(exponent)
  return places < 0 ? { units: units * 10n ** BigInt(-places), places: 0 } : { units, places }
}

function textOf({ units, places }: Decimal): string {
  const sign = units < 0n ? '-' : ''
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0')
  const at = digits.length - places
  const fraction = digits.slice(at).replace(/0+$/, '')
  return `${sign}${digits.slice(0, at)}${fraction === '' ? '' : `.${fraction}`}`
}
