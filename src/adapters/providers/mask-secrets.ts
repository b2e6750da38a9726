import { Fault, isFault } from '../../base/fault.ts'

/** Part of an upstream's error that is not sent to callers. */
const mask = '[secret]'

/** A shorter value, such as `none`, is no real key and may be an ordinary word of a message. */
const minSecretLength = 8

/** The length from which a part of a secret is masked. */
const partLength = 8

const credentialName = /auth|key|token|secret|cookie|password|code|sig/i

type Credentials = {
  readonly apiKey?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The values that must not be repeated to callers: the key, headers that hold credentials, and credentials in the address. */
export function secretsOf({ apiKey, headers = {} }: Credentials, baseUrl?: string): string[] {
  const url = baseUrl !== undefined && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  const named = [...Object.entries(headers), ...(url?.searchParams ?? [])]
    .filter(([name]) => credentialName.test(name))
    .map(([, value]) => value.replace(/^\w+ /, ''))
  return [apiKey ?? '', ...named, url?.password ?? ''].filter(({ length }) => length >= minSecretLength)
}

/** The error without the secrets that its message or the details of the vendor repeat. The cause is for the log, which has a filter of its own. */
export function withoutSecrets(error: unknown, secrets: readonly string[]): unknown {
  if (!isFault(error) || secrets.length === 0) return error
  const message = masked(error.message, secrets)
  const { vendorDetails } = error.details
  const details = vendorDetails && (maskedValue(vendorDetails, secrets) as typeof vendorDetails)
  if (message === error.message && JSON.stringify(details) === JSON.stringify(vendorDetails)) return error
  return new Fault(error.kind, error.code, message, { ...error.details, ...(details && { vendorDetails: details }) })
}

/** For the rejection of a call. */
export const throwWithoutSecrets =
  ({ secrets }: { readonly secrets: () => readonly string[] }) =>
  (error: unknown): never => {
    throw withoutSecrets(error, secrets())
  }

/** Replaces each secret, each longer part of one, and forms such as `sk-a***xyz` that show its first and last characters. */
export const masked = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((rest, secret) => withoutParts(withoutShortForms(rest.replaceAll(secret, mask), secret), secret), text)

function maskedValue(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return masked(value, secrets)
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [masked(name, secrets), maskedValue(item, secrets)]),
  )
}

/** Characters, then what stands for the hidden ones, then characters. */
const shortForm = /([\w.~+/=-]*?)(?:\*{2,}|•{2,}|…|\.{3,}|[xX]{6,})([\w~+/=-]*)/g

function withoutShortForms(text: string, secret: string): string {
  return text.replace(shortForm, (found: string, first: string, last: string) => {
    const isPart = secret.startsWith(first) && secret.endsWith(last)
    return isPart && first.length + last.length >= 3 ? mask : found
  })
}

/** Such a part of a secret says nothing about it: a key named `my-upstream-key` must not mask the word in every message. */
const ordinaryWord = /^[A-Z]?[a-z]+$/

function withoutParts(text: string, secret: string): string {
  const all = Array.from({ length: secret.length - partLength + 1 }, (_, at) => secret.slice(at, at + partLength))
  const parts = new Set(all.filter((part) => !ordinaryWord.test(part)))
  let result = ''
  for (let at = 0; at < text.length;) {
    if (!parts.has(text.slice(at, at + partLength))) {
      result += text[at]
      at += 1
      continue
    }
    let end = at + partLength
    while (parts.has(text.slice(end - partLength + 1, end + 1))) end += 1
    result += mask
    at = end
  }
  return result
}
