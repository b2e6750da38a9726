import { rollupKinds, type RollupKind } from '../../../../domain/rollup/kinds.ts'

/** `input_tokens` for `inputTokens`, `latency_0` for `latency0`. */
export const columnOf = (name: string): string => name.replaceAll(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`)

export const dimensionColumns = (kind: RollupKind): string[] => rollupKinds[kind].dimensions.map(columnOf)
export const sumColumns = (kind: RollupKind): string[] => rollupKinds[kind].sums.map(columnOf)

/** In the order of the primary key. The subject is before the time, so that the sums of one policy are beside each other. */
export const keyColumns = [
  'organization_id',
  'kind',
  'step',
  'subject',
  'start_time',
  'project_id',
  'key_id',
  'model',
  'user_id',
  'upstream',
  'decision',
  'status',
  'version',
  'tags',
] as const
