/** The fields of a policy that the model covers. */
export type ModelContent = { rule: string; mode: string; project: boolean }

export type PolicyModel = {
  name: string
  state: string
  revision: number
  draft: ModelContent
  base: number | null
  versions: ModelContent[]
  isDeleted: boolean
}

export type ModelStep =
  | { operation: 'update'; revision: number; patch: Partial<ModelContent> & { name?: string } }
  | { operation: 'publish' | 'pause' | 'resume' | 'delete'; revision: number }
  | { operation: 'rollback'; revision: number; version: number }

export const newModel = (name: string, draft: ModelContent): PolicyModel => ({
  name,
  draft,
  state: 'draft',
  revision: 1,
  base: null,
  versions: [],
  isDeleted: false,
})

export const isDirty = ({ draft, versions }: PolicyModel): boolean =>
  JSON.stringify(versions.at(-1)) !== JSON.stringify(draft)

/** The lifecycle of a policy as a simple model: applies an action and returns the expected response. */
export function takeStep(model: PolicyModel, step: ModelStep): string {
  if (model.isDeleted) return 'not_found'
  if (step.revision !== model.revision) return 'revision_conflict'
  const publish = (content: ModelContent, base: number): void => {
    model.versions.push({ ...content })
    model.draft = { ...content }
    model.base = base
    if (model.state !== 'paused') model.state = content.mode
  }
  if (step.operation === 'update') {
    const { name = model.name, ...content } = step.patch
    const next = { ...model.draft, ...content }
    if (name === model.name && JSON.stringify(next) === JSON.stringify(model.draft)) return 'ok'
    Object.assign(model, { name, draft: next })
  } else if (step.operation === 'publish') {
    if (!isDirty(model)) return 'no_unpublished_changes'
    publish(model.draft, model.versions.length + 1)
  } else if (step.operation === 'rollback') {
    const earlier = model.versions[step.version - 1]
    if (!earlier) return 'not_found'
    if (step.version === model.versions.length) return 'invalid_state'
    publish(earlier, step.version)
  } else if (step.operation === 'pause') {
    if (model.state !== 'monitoring' && model.state !== 'enforcing') return 'invalid_state'
    model.state = 'paused'
  } else if (step.operation === 'resume') {
    if (model.state !== 'paused') return 'invalid_state'
    model.state = model.versions.at(-1)?.mode ?? ''
  } else {
    model.isDeleted = true
    return 'ok'
  }
  model.revision++
  return 'ok'
}
