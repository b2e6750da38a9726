/** What a model can be asked to do, by the names of OpenTelemetry. */
export const operationNames = ['chat', 'embeddings'] as const
export type OperationName = (typeof operationNames)[number]
