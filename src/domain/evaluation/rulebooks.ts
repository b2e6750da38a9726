import { isPromise, type MaybePromise } from '../../base/maybe-promise.ts'
import type { Changes } from '../mutations/changes.ts'
import type { GatewayStore } from '../gateway-config/store.ts'
import { unsaved, type SavedConfiguration } from '../gateway-config/configuration.ts'
import type { PatternEngine } from '../scan/detect/patterns.ts'
import { compileTerms } from '../scan/detect/terms.ts'
import type { CompiledRule, CompileRule } from '../policy/compiled-rule.ts'
import type { Policy } from '../policy/policy.ts'
import type { PolicyStore } from '../policy/store.ts'
import type { ActivePolicy, Gateway, Rulebook, RulebookOf } from './rulebook.ts'

export type RulebookParts = {
  readonly gateway: Pick<GatewayStore, 'find'>
  readonly policies: Pick<PolicyStore, 'listInForce'>
  readonly changes: Changes
  readonly compileRule: CompileRule
  readonly patterns: PatternEngine
}

/** Organizations whose compiled rules are cached; the least recently loaded one is evicted first. */
const maxCached = 1_000

type CachedRulebook = { rulebook: MaybePromise<Rulebook>; readonly readAt: number }

/**
 * Loads an organization's rules once, and again after any change of the organization. If the database cannot be reached
 * then, the previous rules stay valid for a bounded time.
 */
export function createRulebooks(parts: RulebookParts): RulebookOf {
  const cached = new Map<string, CachedRulebook>()

  return (organizationId) => {
    const known = cached.get(organizationId)
    if (known !== undefined && parts.changes.latestOf(organizationId) <= known.readAt) return known.rulebook
    const readAt = parts.changes.count()
    const reading = read(organizationId, known?.rulebook)
    const one: CachedRulebook = {
      rulebook: reading.then((rulebook) => (one.rulebook = rulebook), onLoadFailed),
      readAt,
    }
    addToCache(organizationId, one)
    return one.rulebook

    /** After a failed load, the next request tries again. */
    function onLoadFailed(error: unknown): MaybePromise<Rulebook> {
      const stale = parts.changes.mayUseStale(organizationId, error) ? known : undefined
      if (cached.get(organizationId) === one) {
        if (stale) cached.set(organizationId, stale)
        else cached.delete(organizationId)
      }
      if (stale) return stale.rulebook
      throw error
    }
  }

  function addToCache(organizationId: string, one: CachedRulebook): void {
    cached.delete(organizationId)
    cached.set(organizationId, one)
    if (cached.size <= maxCached) return
    const [oldest] = cached.keys()
    if (oldest !== undefined) cached.delete(oldest)
  }

  /** Compiles only what has changed since the last load. */
  async function read(organizationId: string, known: MaybePromise<Rulebook> | undefined): Promise<Rulebook> {
    const [saved = unsaved, policies, before] = await Promise.all([
      parts.gateway.find(organizationId),
      parts.policies.listInForce(organizationId),
      isPromise(known) ? known.catch(() => undefined) : known,
    ])
    const isSame = before?.gateway.version === saved.version
    const rules = new Map(before?.policies.map(({ versionId, rule }) => [versionId, rule]))
    return {
      organizationId,
      gateway: isSame ? { ...before.gateway, ...saved } : compileGateway(saved, parts.patterns),
      policies: policies.flatMap((policy) => activePolicy(policy, rules)),
    }
  }

  function activePolicy(
    { id, name, organizationId, published }: Policy,
    rules: ReadonlyMap<string, CompiledRule>,
  ): readonly ActivePolicy[] {
    if (published === null) return []
    const { id: versionId, rule, publishedAtMs: _, ...content } = published
    const { judgeWindow } = content
    const compiled = rules.get(versionId) ?? parts.compileRule({ rule, versionId, organizationId, judgeWindow })
    return [{ ...content, id, name, versionId, rule: compiled }]
  }
}

/** Also used for the configuration of a simulation. */
export function compileGateway(saved: SavedConfiguration, patterns: PatternEngine): Gateway {
  const { allowlist, denylist } = saved.config.rules
  const terms = [...allowlist, ...denylist]
  return { ...saved, terms: terms.length === 0 ? undefined : compileTerms(terms, patterns) }
}
