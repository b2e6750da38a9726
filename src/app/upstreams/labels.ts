import { isPromise } from '../../base/maybe-promise.ts'
import type { ModelSet, ModelSetOf } from '../../domain/inference/model-set.ts'
import type { OperationCall } from '../../pipeline/operation-call.ts'

/** The value of the labels `upstream` and `model` for all entries of organizations, because labels must have few values. */
export const organizationLabel = '(organization)'

type Sources = Pick<ModelSet, 'catalogue'> & { readonly modelSetOf: ModelSetOf }

/** The entry of the catalogue that served a request, for metrics. */
export function modelLabel({ catalogue, modelSetOf }: Sources, { caller, request }: OperationCall): string {
  const set = caller.kind === 'free' ? undefined : modelSetOf(caller.organization.id)
  const known = set === undefined || isPromise(set) ? catalogue : set.catalogue
  const entry = known.entryOf(request.model)
  if (entry === undefined) return 'other'
  return entry.organizationId === undefined ? entry.name : organizationLabel
}
