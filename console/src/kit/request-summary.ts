import { words } from '../words/en.ts'
import type { components } from '../api/schema.d.ts'

const text = words.request.summary

/** What happened to the request, in one sentence. */
export function summaryOf(request: components['schemas']['RequestDetail']): string {
  const { status, decision, is_enforced: isEnforced, error, model } = request
  const by = request.policy_name ?? (request.categories.join(', ') || text.gateway)
  if (status === 'error') return text.failed(model, error ?? words.common.failed)
  if (decision === 'not_evaluated') return text.rejected(error ?? words.common.failed)
  if (decision === 'allow') return text.allowed(model)
  if (!isEnforced) return text.monitored(model, text.verbs[decision], by)
  if (decision === 'refuse' || decision === 'escalate') return text.denied(by)
  return text.changed(model, by)
}
