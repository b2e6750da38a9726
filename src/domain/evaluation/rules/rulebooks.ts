import { isPromise, type MaybePromise } from '../../../base/maybe-promise.ts'
import type { Changes } from '../../identity/changes.ts'
import type { GatewayStore } from '../../gateway-config/store.ts'
import { unsaved, type SavedConfiguration } from '../../gateway-config/configuration.ts'
import type { PatternEngine } from '../../moderation/patterns.ts'
import { compileTerms } from '../../moderation/terms.ts'
import type { CompiledRule, CompileRule } from '../../policy/compiled-rule.ts'
import type { Policy } from '../../policy/policy.ts'
import type { PolicyStore } from '../../policy/store.ts'
import type { ActivePolicy, Gateway, Rulebook, RulebookOf } from './rulebook.ts'

export type RulebookParts = {
  readonly gateway: Pick<GatewayStore, 'find'>
  readonly policies: Pick<PolicyStore, 'listInForce'>
  readonly changes: Changes
  readonly compileRule: CompileRule
  readonly patterns: PatternEngine
}

/** Organizations whose rules are kept compiled; the one asked for longest ago goes first. */
const mostKept = 1_000

type Kept = { rulebook: MaybePromise<Rulebook>; readonly readAt: number }

/**
 * Reads an organization's rules once, and again after something of the organization has changed. Where the database is out of
 * reach then, the rules from before hold for a bounded time.
 */
export function createRulebooks(parts: RulebookParts): RulebookOf {
  const kept = new Map<string, Kept>()

  return (organizationId) => {
    const known = kept.get(organizationId)
    if (known !== undefined && parts.changes.latestOf(organizationId) <= known.readAt) return known.rulebook
    const readAt = parts.changes.count()
    const reading = read(organizationId, known?.rulebook)
    const one: Kept = { rulebook: reading.then((rulebook) => (one.rulebook = rulebook), unread), readAt }
    keep(organizationId, one)
    return one.rulebook

    /** What could not be read is read again for the next one who asks. */
    function unread(error: unknown): MaybePromise<Rulebook> {
      const stale = parts.changes.mayUseStale(organizationId, error) ? known : undefined
      if (kept.get(organizationId) === one) {
        if (stale) kept.set(organizationId, stale)
        else kept.delete(organizationId)
      }
      if (stale) return stale.rulebook
      throw error
    }
  }

  function keep(organizationId: string, one: Kept): void {
    kept.delete(organizationId)
    kept.set(organizationId, one)
    if (kept.size <= mostKept) return
    const [oldest] = kept.keys()
    if (oldest !== undefined) kept.delete(oldest)
  }

  /** What has not changed since the last time is not compiled again. */
  async function read(organizationId: string, known: MaybePromise<Rulebook> | undefined): Promise<Rulebook> {
    const [saved = unsaved, policies, before] = await Promise.all([
      parts.gateway.find(organizationId),
      parts.policies.listInForce(organizationId),
      isPromise(known) ? known.catch(() => undefined) : known,
    ])
    const isSame = before?.gateway.version === saved.version
    const rules = new Map(before?.policies.map(({ versionId, rule }) => [versionId, rule]))
    return {
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
    const compiled = rules.get(versionId) ?? parts.compileRule({ rule, versionId, organizationId })
    return [{ ...content, id, name, versionId, rule: compiled }]
  }
}

/** The same for a configuration that a simulation brings along. */
export function compileGateway(saved: SavedConfiguration, patterns: PatternEngine): Gateway {
  const { allowlist, denylist } = saved.config.rules
  const terms = [...allowlist, ...denylist]
  return { ...saved, terms: terms.length === 0 ? undefined : compileTerms(terms, patterns) }
}
