/** What a model can be asked to do, by the names of OpenTelemetry. */
export const operationNames = ['chat'] as const
export type OperationName = (typeof operationNames)[number]
