import type { Published, ShownPolicy } from '../../app/operations/policies.ts'
import { required } from '../arguments.ts'
import type { Result } from '../run-command.ts'
import type { PolicyCall, Verb } from './call.ts'
import { contentDifferences, contentLines, policyDiffLines } from './diff.ts'
import { fieldsOf, wholeNumber } from './fields.ts'
import { dateOf, table } from '../table.ts'

/** What can be done to one policy, or to all of them. */
export const verbs: Readonly<Record<string, Verb>> = {
  async list({ house, where }) {
    const answer = await house.operations['policies.list'](where)
    const rows = answer.map((policy) => [
      policy.id,
      policy.name,
      policy.state,
      String(policy.revision),
      String(policy.current_version ?? '-'),
      policy.has_unpublished_changes ? 'yes' : 'no',
    ])
    return { answer, text: table(['ID', 'NAME', 'STATE', 'REVISION', 'VERSION', 'UNPUBLISHED'], rows) }
  },
  show: async ({ house, where, id }) => told(await house.operations['policies.show']({ ...where, id })),
  async create({ house, where, values }) {
    required(values.name, '--name')
    return told(await house.operations['policies.create']({ ...where, policy: fieldsOf(values) }))
  },
  update: async (call) =>
    told(await call.house.operations['policies.update']({ ...(await at(call)), patch: fieldsOf(call.values) })),
  publish: async (call) => toldPublished(await call.house.operations['policies.publish'](await at(call))),
  pause: async (call) => told(await call.house.operations['policies.pause'](await at(call))),
  resume: async (call) => told(await call.house.operations['policies.resume'](await at(call))),
  async rollback(call) {
    const version = wholeNumber(required(call.values.version, '--version'), '--version')
    return toldPublished(await call.house.operations['policies.rollback']({ ...(await at(call)), version }))
  },
  async delete(call) {
    const { id, name } = await call.house.operations['policies.delete'](await at(call))
    return { answer: { id, object: 'organization.policy.deleted', deleted: true }, text: `${id} ${name} is deleted.` }
  },
  async diff({ house, where, id, values }) {
    const { draft, published } = await house.operations['policies.show']({ ...where, id })
    const version =
      values.version === undefined
        ? published
        : await house.operations['policies.version']({
            ...where,
            id,
            version: wholeNumber(values.version, '--version'),
          })
    if (version === null) return { answer: [], text: 'Nothing is published yet.' }
    const answer = contentDifferences(version, draft)
    const title = `version ${version.version} and the draft`
    return {
      answer,
      text: answer.length === 0 ? `No difference between ${title}.` : answer.flatMap(policyDiffLines).join('\n'),
    }
  },
}

/** The policy at the revision that was named, or at the one it has now. */
async function at({ house, where, id, values }: PolicyCall) {
  if (values.revision !== undefined) return { ...where, id, revision: wholeNumber(values.revision, '--revision') }
  const { revision } = await house.operations['policies.show']({ ...where, id })
  return { ...where, id, revision }
}

function told(policy: ShownPolicy): Result {
  const { draft, published } = policy
  const unpublished = published === null ? [] : contentDifferences(published, draft).flatMap(policyDiffLines)
  const lines = [
    `${policy.id}  ${policy.name}`,
    ...(policy.description === '' ? [] : [policy.description]),
    `${policy.state}, revision ${policy.revision}, version ${policy.current_version ?? 'none'}, changed ${dateOf(policy.updated_at * 1000)}`,
    '',
    ...contentLines(draft),
    ...(unpublished.length === 0 ? [] : ['', 'Not published yet:', ...unpublished]),
  ]
  return { answer: policy, text: lines.join('\n') }
}

const toldPublished = ({ policy, isEvaluable }: Published): Result => ({
  ...told(policy),
  ...(isEvaluable ? {} : { remarks: [notEvaluable(policy.name)] }),
})

export const notEvaluable = (name: string): string =>
  `${name}: nobody can judge this rule yet. It names no quoted phrase, moderation category or kind of personal data, and no judge is configured: it is recorded as not evaluated and never blocks.`
