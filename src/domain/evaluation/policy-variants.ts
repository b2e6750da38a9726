import { endedTexts, exceptionFor, liveTexts, type PolicyExceptions } from '../exceptions/covered.ts'
import type { TextDirection } from '../scan/classify/classifier.ts'
import type { ActivePolicy, AppliedException } from './rulebook.ts'

type ByDirection = Readonly<Record<TextDirection, readonly ActivePolicy[]>>

/** What of a request decides for whom a policy is enforced. */
type Requester = {
  readonly project: string
  readonly user: string | undefined
  readonly credentialId: string
  readonly atMs: number
}

/** The policies as they are enforced for one request; undefined if that is as for most. */
export type VariantFor = (requester: Requester) => ByDirection | undefined

/** Bounds the cache of variants. There are few: one for each combination of exceptions that a request can have. */
const maxVariants = 1_000

/**
 * Policies that are not enforced for every request. Requests with the same exceptions share one list, so that what is computed
 * once per list stays cached.
 */
export function createVariants(
  policies: readonly ActivePolicy[],
  exceptions: ReadonlyMap<string, PolicyExceptions> | undefined,
): VariantFor {
  const excepted = policies.flatMap((policy): readonly Excepted[] => {
    const own = policy.mode === 'enforcing' ? exceptions?.get(policy.id) : undefined
    return own === undefined ? [] : [{ policy, exceptions: own }]
  })
  if (excepted.length === 0) return withoutVariants
  const variants = new Map<string, ByDirection>()
  return (requester) => {
    let key = ''
    for (const one of excepted) key += `${keyOf(one, requester)} `
    if (key.length === excepted.length) return undefined
    const known = variants.get(key)
    if (known !== undefined) return known
    const variant = byDirection(policies.map((policy) => variantOf(policy, excepted, requester)))
    if (variants.size >= maxVariants) variants.clear()
    variants.set(key, variant)
    return variant
  }
}

const withoutVariants: VariantFor = () => undefined

export const byDirection = (policies: readonly ActivePolicy[]): ByDirection => ({
  request: policies.filter(({ direction }) => direction !== 'response'),
  response: policies.filter(({ direction }) => direction !== 'request'),
})

type Excepted = { readonly policy: ActivePolicy; readonly exceptions: PolicyExceptions }

/** Identifies the exceptions that apply; empty for none. */
function keyOf({ exceptions }: Excepted, requester: Requester): string {
  const id = exceptionFor(exceptions, requester)
  if (id !== undefined) return id
  const ended = endedTexts(exceptions, requester.atMs)
  return ended === exceptions.textEndsMs.length ? '' : `${ended}`
}

function variantOf(policy: ActivePolicy, all: readonly Excepted[], requester: Requester): ActivePolicy {
  const exceptions = all.find((one) => one.policy === policy)?.exceptions
  const exception = exceptions && appliedException(exceptions, requester)
  if (exception === undefined) return policy
  return { ...policy, ...('id' in exception && { mode: 'monitoring' }), exception }
}

function appliedException(exceptions: PolicyExceptions, requester: Requester): AppliedException | undefined {
  const id = exceptionFor(exceptions, requester)
  if (id !== undefined) return { id }
  const texts = liveTexts(exceptions, requester.atMs)
  return texts.size === 0 ? undefined : { texts }
}
