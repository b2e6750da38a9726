/** Finds the texts of a request that a policy denies, for an exception. */
import { Fault } from '../../base/fault.ts'
import { rowOf } from '../audit/chain/chained-event.ts'
import { keptTexts } from '../audit/event/content.ts'
import type { LoggedEvent } from '../audit/log.ts'
import type { Simulate } from '../evaluation/simulate.ts'
import { scannedTextsOf } from '../evaluation/texts/request-texts.ts'
import { textDigest } from '../exceptions/exception.ts'
import { unsaved } from '../gateway-config/configuration.ts'
import { contentOf } from '../policy/content.ts'
import type { Policy } from '../policy/policy.ts'
import { placeholders } from '../scan/detect/personal-data/placeholder.ts'
import { directionOf, policyResultsIn } from './recorded-outcomes.ts'
import { requestOfTexts, rerunTextsOf } from './rerun-texts.ts'

export type DeniedTexts = { readonly requestId: string; readonly digests: readonly string[] }

/**
 * Evaluates each kept text of the request with the current version of the policy. Throws an error about the field `param` if
 * none can have an exception.
 */
export type FindDeniedTexts = (event: LoggedEvent, policy: Policy, param: string) => Promise<DeniedTexts>

const maxTexts = 16

export const createFindDeniedTexts =
  (simulate: Simulate): FindDeniedTexts =>
  async (event, policy, param) => {
    const { document } = event
    const { published } = policy
    const { requestId } = rowOf(document, '')
    if (requestId === null || !policyResultsIn(document).some(({ policyId }) => policyId === policy.id))
      throw unusable('must name the event of a request that the policy was evaluated on.')
    if (directionOf(document) !== 'request')
      throw unusable('the policy decided about the response. Make the exception for a key, a user or a project.')
    const { request } = rerunTextsOf(event, undefined) ?? {}
    if (published === null || request === undefined)
      throw unusable(
        'no text of the request is kept. Send the text, or make the exception for a key, a user or a project.',
      )
    const { texts, joinedFragments } = scannedTextsOf(request)
    const digests: string[] = []
    for (const text of new Set([...texts, ...joinedFragments])) if (await isDenied(text)) digests.push(digestOf(text))
    if (digests.length === 0) throw unusable('the policy no longer denies a text of the request.')
    if (digests.length > maxTexts)
      throw unusable(`the policy denies more than ${maxTexts} texts of the request. Change the policy instead.`)
    return { requestId, digests }

    async function isDenied(text: string): Promise<boolean> {
      if (published === null) return false
      const { id, name } = policy
      const content = { ...contentOf(published), scope: 'unattached', direction: 'both', mode: 'enforcing' } as const
      const { projectId, userId, model, actorId } = rowOf(document, '')
      const context = {
        model: model ?? '',
        project: projectId ?? '',
        user: userId ?? undefined,
        credentialId: actorId ?? '',
        metadata: {}, // not in the audit log
        target: undefined,
        policyIds: [],
        flaggedCategories: [],
      }
      const { verdict } = await simulate({
        organizationId: policy.organizationId,
        config: unsaved.config,
        policies: { includesInForce: false, tried: [{ id, name, version: undefined, content }] },
        usesJudge: true,
        scenario: { request: requestOfTexts([{ role: 'user', text }]), direction: 'request', categories: [], context },
      })
      return verdict.decisions.some(({ check, effect }) => check === 'policy' && effect !== 'allow')
    }

    function digestOf(text: string): string {
      if (keptTexts(event.content) === event.content?.redacted && text.search(placeholders) !== -1)
        throw unusable('the text is kept redacted, so its digest is unknown. Send the text itself.')
      return textDigest(text)
    }

    function unusable(problem: string): Fault {
      return new Fault('validation', 'invalid_parameter', `${param}: ${problem}`, { param })
    }
  }
