import { words } from '../../words/en.ts'
import { templates, type TemplateId } from './templates.ts'
import type { DecidedRequest, Policy, PolicyCreate } from './queries.ts'

/** The fields of a new policy that the dialog starts with. The mode is monitoring unless somebody changes the draft. */
export const blankPolicy: PolicyCreate = { name: '', rule: '' }

export const isTemplateId = (id: string): id is TemplateId => Object.hasOwn(words.policies.templates, id)

export function policyOfTemplate(id: TemplateId): PolicyCreate {
  const template = templates.find((each) => each.id === id)
  if (template === undefined) return blankPolicy
  const { name, description } = words.policies.templates[id]
  const { rule, direction } = template
  return { name, description, rule, direction, mode: 'monitoring' }
}

/**
 * A policy for requests like this one, in its project: about the categories that were found in it, else with the rule of the
 * policy that decided it, else without a rule.
 */
export function policyOfRequest(request: DecidedRequest, decidedBy: Policy | undefined): PolicyCreate {
  const { id, project_id: projectId, categories } = request
  return {
    name: words.policies.fromRequestName(decidedBy?.name, id.slice(-6)),
    description: words.policies.fromRequestDescription(id),
    rule: ruleOf(categories) ?? decidedBy?.published?.rule ?? '',
    mode: 'monitoring',
    ...(projectId !== null && { scope: 'projects', project_ids: [projectId] }),
  }
}

const ruleOf = (categories: readonly string[]): string | undefined =>
  categories.length === 0
    ? undefined
    : `cel:${categories.map((name) => `categories[${JSON.stringify(name)}] > 0.5`).join(' || ')}`
