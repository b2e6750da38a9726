import { endedTexts, exceptionFor, liveTexts, type PolicyExceptions } from '../exceptions/covered.ts'
import { percentileOf } from '../gateway-config/rollout.ts'
import type { TextDirection } from '../scan/classify/classifier.ts'
import type { ActivePolicy, PolicyRollout } from './rulebook.ts'

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

/** Bounds the cache of hashes. */
const maxSubjects = 10_000

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
  const varying = policies.flatMap((policy): readonly Varying[] => {
    const own = exceptions?.get(policy.id) ?? withoutExceptions
    const varies = own !== withoutExceptions || policy.rolloutPercent !== undefined
    return varies && policy.mode === 'enforcing' ? [{ policy, exceptions: own }] : []
  })
  if (varying.length === 0) return withoutVariants
  const hasRollout = varying.some(({ policy }) => policy.rolloutPercent !== undefined)
  const percentiles = createPercentiles()
  const variants = new Map<string, ByDirection>()
  return (requester) => {
    const placed = { ...requester, percentile: hasRollout ? percentiles(requester.user ?? requester.credentialId) : 0 }
    let key = ''
    for (const one of varying) key += `${keyOf(one, placed)} `
    if (key.length === varying.length) return undefined
    const known = variants.get(key)
    if (known !== undefined) return known
    const variant = byDirection(policies.map((policy) => variantOf(policy, varying, placed)))
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

/** A requester, and whom a rollout takes it for: the user, or the key if no user is named. */
type Placed = Requester & { readonly percentile: number }

/** Remembers the hashes of the subjects that were seen last, because a user sends many requests. */
function createPercentiles(): (subject: string) => number {
  const known = new Map<string, number>()
  return (subject) => {
    const before = known.get(subject)
    if (before !== undefined) return before
    const percentile = percentileOf(subject)
    if (known.size >= maxSubjects) known.clear()
    known.set(subject, percentile)
    return percentile
  }
}

type Varying = { readonly policy: ActivePolicy; readonly exceptions: PolicyExceptions }

/** Identifies the exceptions that apply, and the side of the rollout; empty for neither. */
function keyOf({ policy, exceptions }: Varying, requester: Placed): string {
  const id = exceptionFor(exceptions, requester)
  if (id !== undefined) return id
  const ended = endedTexts(exceptions, requester.atMs)
  const texts = ended === exceptions.textEndsMs.length ? '' : `${ended}`
  return `${rolloutOf(policy, requester)?.side ?? ''}${texts}`
}

function variantOf(policy: ActivePolicy, all: readonly Varying[], requester: Placed): ActivePolicy {
  const exceptions = all.find((one) => one.policy === policy)?.exceptions
  if (exceptions === undefined) return policy
  const id = exceptionFor(exceptions, requester)
  if (id !== undefined) return { ...policy, mode: 'monitoring', exception: { id } }
  const texts = liveTexts(exceptions, requester.atMs)
  const rollout = rolloutOf(policy, requester)
  return {
    ...policy,
    ...(rollout && { rollout }),
    ...(rollout?.side === 'observed' ? { mode: 'monitoring' } : texts.size > 0 && { exception: { texts } }),
  }
}

/** The same side for the same user, or key, on every node. A higher percent keeps those of a lower one. */
function rolloutOf(
  { rolloutPercent: percent }: ActivePolicy,
  { percentile }: Pick<Placed, 'percentile'>,
): PolicyRollout | undefined {
  return percent === undefined ? undefined : { percent, side: percentile < percent ? 'enforced' : 'observed' }
}

const withoutExceptions: PolicyExceptions = {
  project: new Map(),
  user: new Map(),
  key: new Map(),
  text: new Map(),
  textEndsMs: [],
}
