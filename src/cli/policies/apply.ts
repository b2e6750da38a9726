import { messageOf } from '../../base/fault.ts'
import type { ShownSummary } from '../../app/operations/policies.ts'
import { required } from '../arguments.ts'
import type { Result } from '../run-command.ts'
import type { PolicyCall } from './call.ts'
import { readPolicyFile, type Wanted } from './file.ts'
import { isIdle, planLines, planStep, type PlanStep } from './plan.ts'
import { notEvaluable } from './verbs.ts'

/** Makes policies what a file says, after showing what that means and asking. */
export async function apply(call: PolicyCall): Promise<Result> {
  const { values, context } = call
  const steps = await planFile(call, required(values.file, '-f FILE'))
  const plan = planLines(steps).join('\n')
  if (values.plan || steps.every(isIdle)) return { answer: steps, text: plan }
  if (!values.yes) {
    context.remark(plan)
    if (!(await context.confirm('Apply this plan?')))
      return { answer: steps, text: 'Nothing was changed. Confirm with --yes.', isRefused: true }
  }
  const done = await carryOut(call, steps)
  return { answer: done, text: [plan, 'Done.'].join('\n'), remarks: done.flatMap(({ remark }) => remark ?? []) }
}

/** Compares the file with what there is. Whatever is wrong in the file is found here, before anything is changed. */
async function planFile({ house, where }: PolicyCall, file: string): Promise<PlanStep[]> {
  const known = await house.operations['policies.list'](where)
  const steps: PlanStep[] = []
  for (const wanted of readPolicyFile(file)) {
    const target = await house.operations['policies.check']({ ...where, policy: wanted.policy }).catch(
      (error: unknown) => {
        throw new Error(`${file}: ${wanted.name}: ${messageOf(error)}`)
      },
    )
    const meant = meantBy(wanted, known)
    const current = meant && (await house.operations['policies.show']({ ...where, id: meant.id }))
    steps.push(planStep(wanted, target, current))
  }
  return steps
}

function meantBy({ id, name }: Wanted, known: readonly ShownSummary[]): ShownSummary | undefined {
  const matches = known.filter((policy) => (id === undefined ? policy.name === name : policy.id === id))
  if (id !== undefined && matches.length === 0) throw new Error(`${name}: there is no policy ${id}.`)
  if (matches.length <= 1) return matches[0]
  throw new Error(`${name}: ${matches.length} policies have this name; say which one with id.`)
}

type Done = { readonly id: string; readonly name: string; readonly revision: number; readonly remark?: string }

/** Policy by policy, each against the revision the plan was made from: a change that came between stops it. */
async function carryOut(call: PolicyCall, steps: readonly PlanStep[]): Promise<Done[]> {
  const done: Done[] = []
  for (const step of steps.filter((each) => !isIdle(each))) {
    try {
      done.push(await carryOutStep(call, step))
    } catch (error) {
      const before =
        done.length === 0 ? 'nothing was changed' : `done before: ${done.map(({ name }) => name).join(', ')}`
      throw new Error(`${step.name}: ${messageOf(error)} (${before})`, {
        cause: error,
      })
    }
  }
  return done
}

async function carryOutStep({ house, where }: PolicyCall, step: PlanStep): Promise<Done> {
  const { operations } = house
  const { name, id = '', revision = 0, body } = step
  const written =
    step.action === 'create'
      ? await operations['policies.create']({ ...where, policy: body })
      : step.action === 'update'
        ? await operations['policies.update']({ ...where, id, revision, patch: body })
        : { id, revision }
  if (!step.publish) return { id: written.id, name, revision: written.revision }
  const { policy, isEvaluable } = await operations['policies.publish']({
    ...where,
    id: written.id,
    revision: written.revision,
  })
  return { id: policy.id, name, revision: policy.revision, ...(isEvaluable ? {} : { remark: notEvaluable(name) }) }
}
