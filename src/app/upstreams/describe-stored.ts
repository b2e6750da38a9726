import { completeModel, completeUpstream } from '../../config/models.ts'
import type { ServedModel } from '../../domain/inference/served-models.ts'
import type { UpstreamStatus } from '../../domain/inference/upstream-status.ts'
import type { InstallationEntries } from '../../domain/organization-models/installation.ts'
import type { StoredModel, StoredUpstream } from '../../domain/organization-models/stored.ts'
import { storedFacts } from './organization-models.ts'
import { inOrganization } from './served-models.ts'
import { configuredModel } from './upstreams.ts'

/** A model as the catalogue will have it, for the response to its creation or change. */
export const describeStoredModel =
  ({ hasModel, kindOf }: Pick<InstallationEntries, 'hasModel' | 'kindOf'>) =>
  (stored: StoredModel, upstreams: readonly StoredUpstream[]): ServedModel => {
    const model = configuredModel(completeModel({ ...stored.settings, name: stored.name }), stored.createdAtMs)
    const kinds = new Map(upstreams.map(({ name, settings }) => [name, completeUpstream(settings).kind]))
    return {
      ...model,
      targets: model.targets.map((target) => {
        const kind = kindOf(target.upstream) ?? kinds.get(target.upstream) ?? 'unknown'
        return { ...target, kind }
      }),
      names: stored.name.endsWith('*') ? [] : [stored.name],
      definedIn: inOrganization,
      stored: storedFacts(stored, hasModel(stored.name)),
    }
  }

/** An upstream that nothing has called yet. */
export const describeStoredUpstream =
  ({ abilitiesOf, abilitiesIn }: Pick<InstallationEntries, 'abilitiesOf' | 'abilitiesIn'>) =>
  (stored: StoredUpstream): UpstreamStatus => ({
    name: stored.name,
    kind: completeUpstream(stored.settings).kind,
    state: 'unknown',
    failures: 0,
    cooldownLeftMs: 0,
    lastSuccessAtMs: null,
    lastError: null,
    p95Ms: null,
    inFlight: 0,
    maxConcurrent: abilitiesIn(stored.settings).maxConcurrent,
    definedIn: inOrganization,
    stored: storedFacts(stored, abilitiesOf(stored.name) !== undefined),
  })
