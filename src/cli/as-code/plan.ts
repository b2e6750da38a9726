import { ApiError } from '../../app/api-client.ts'
import { problemAt } from '../../app/resource-files.ts'
import { leafDiffLines } from '../leaf-diff.ts'
import { gatewayWarnings, planGateway, saveGateway } from '../gateway.ts'
import { planAdminKeys, planApiKeys } from './keys.ts'
import { planPolicies } from './policies.ts'
import { planOrganization, planProjects } from './projects.ts'
import { planSinks } from './sinks.ts'
import { readState } from './state.ts'
import { actionOf, createProblems, type Planning, type Step } from './step.ts'

type PlanInput = Pick<Planning, 'client' | 'resources' | 'env' | 'updatesSecrets'> & { readonly nowMs: number }

/**
 * Compares the files with the organization. Every mistake in the files is reported here, before any change. A step only
 * refers to resources of steps before it.
 */
export async function planResources({ nowMs, ...input }: PlanInput): Promise<readonly Step[]> {
  const { report, throwIfAny } = createProblems()
  const planning: Planning = { ...input, report, state: await readState(input.client, nowMs) }
  const projects = planProjects(planning)
  const steps = [
    ...planOrganization(planning),
    ...projects.steps,
    ...planApiKeys(planning, projects),
    ...planAdminKeys(planning),
    ...planSinks(planning),
    ...(await planGatewayStep(planning)),
    ...(await planPolicies(planning, projects)),
  ]
  throwIfAny()
  return steps
}

/** A configuration that a denial spike has disabled stays disabled until it is changed or saved by a person. */
async function planGatewayStep({ client, resources: { gateway }, report }: Planning): Promise<Step[]> {
  if (!gateway) return []
  const config = gateway.value
  try {
    const { current, differences } = await planGateway(client, config)
    const run: Step['run'] = async (applying) => {
      const saved = await saveGateway(applying, { current, config })
      return { id: '', warnings: gatewayWarnings(saved) }
    }
    const action = actionOf(current, differences)
    return [{ kind: 'gateway configuration', name: '', action, differences, lines: leafDiffLines(differences), run }]
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    report(gateway, problemAt(error.param ?? '', error.message))
    return []
  }
}
