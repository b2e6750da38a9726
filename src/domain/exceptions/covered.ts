import type { LiveException } from './exception.ts'

/** Exceptions of one policy that were live when they were read, by what they cover. */
export type PolicyExceptions = {
  readonly project: ReadonlyMap<string, Cover>
  readonly user: ReadonlyMap<string, Cover>
  readonly key: ReadonlyMap<string, Cover>
  /** By digest. */
  readonly text: ReadonlyMap<string, Cover>
  /** When one of those for a text ends, the first one first. */
  readonly textEndsMs: readonly number[]
}

export type Cover = Pick<LiveException, 'id' | 'expiresAtMs'>

/** Whom a request is of. */
export type CoveredRequest = {
  readonly project: string
  readonly user: string | undefined
  readonly credentialId: string
  readonly atMs: number
}

/** By policy. Undefined if there are none, so that a request costs nothing. */
export function exceptionsByPolicy(live: readonly LiveException[]): ReadonlyMap<string, PolicyExceptions> | undefined {
  if (live.length === 0) return undefined
  const byPolicy = new Map<string, MutableExceptions>()
  for (const { id, policyId, subject, expiresAtMs } of live) {
    const known = byPolicy.get(policyId) ?? noExceptions()
    byPolicy.set(policyId, known)
    const cover = { id, expiresAtMs }
    if (subject.kind !== 'text') addLonger(known[subject.kind], subject.id, cover)
    else for (const digest of subject.digests) addLonger(known.text, digest, cover)
  }
  for (const { text, textEndsMs } of byPolicy.values()) {
    for (const { expiresAtMs } of text.values()) textEndsMs.push(expiresAtMs)
    textEndsMs.sort((one, other) => one - other)
  }
  return byPolicy
}

type MutableExceptions = Record<'project' | 'user' | 'key' | 'text', Map<string, Cover>> & { textEndsMs: number[] }

const noExceptions = (): MutableExceptions => ({
  project: new Map(),
  user: new Map(),
  key: new Map(),
  text: new Map(),
  textEndsMs: [],
})

/** Of two exceptions for the same, the one that ends later is recorded. */
function addLonger(covers: Map<string, Cover>, subject: string, cover: Cover): void {
  const known = covers.get(subject)
  if (known === undefined || known.expiresAtMs < cover.expiresAtMs) covers.set(subject, cover)
}

/** The id of the exception for the key, the user or the project of a request. */
export function exceptionFor(exceptions: PolicyExceptions, request: CoveredRequest): string | undefined {
  const { project, user, credentialId, atMs } = request
  return (
    liveId(exceptions.key.get(credentialId), atMs) ??
    (user === undefined ? undefined : liveId(exceptions.user.get(user), atMs)) ??
    liveId(exceptions.project.get(project), atMs)
  )
}

const liveId = (cover: Cover | undefined, atMs: number): string | undefined =>
  cover !== undefined && atMs < cover.expiresAtMs ? cover.id : undefined

/** How many of those for a text have ended. Together with the list it identifies the ones that are live. */
export function endedTexts({ textEndsMs }: PolicyExceptions, atMs: number): number {
  let ended = 0
  while (ended < textEndsMs.length && (textEndsMs[ended] ?? 0) <= atMs) ended += 1
  return ended
}

/** The ids of the live exceptions for a text, by digest. */
export const liveTexts = ({ text }: PolicyExceptions, atMs: number): ReadonlyMap<string, string> =>
  new Map([...text].flatMap(([digest, { id, expiresAtMs }]) => (atMs < expiresAtMs ? [[digest, id] as const] : [])))
