import { isRecord } from '../base/record.ts'

type AnyValue = {
  readonly stringValue?: string
  readonly boolValue?: boolean
  readonly intValue?: string
  readonly doubleValue?: number
  readonly arrayValue?: { readonly values: readonly AnyValue[] }
  readonly kvlistValue?: { readonly values: readonly KeyValue[] }
}

type KeyValue = { readonly key: string; readonly value: AnyValue }

/** A JSON value in OTLP's typed format: 64-bit integers are strings, and null is the empty value. */
export function toAnyValue(value: unknown): AnyValue {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(toAnyValue) } }
  return isRecord(value) ? { kvlistValue: { values: toKeyValues(value) } } : {}
}

/** The members of a record as OTLP's attributes. Undefined members are left out. */
export function toKeyValues(record: Readonly<Record<string, unknown>>): KeyValue[] {
  const values: KeyValue[] = []
  for (const key in record) if (record[key] !== undefined) values.push({ key, value: toAnyValue(record[key]) })
  return values
}
