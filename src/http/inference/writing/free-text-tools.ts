import type { InferenceRequest } from '../../../domain/inference/request.ts'
import { isRecord } from '../../../base/record.ts'

/**
 * OpenAI's dialects have tools that take free text instead of JSON. For upstreams without them, such a tool becomes a
 * function with one string field, `input`. Its calls are converted back before the caller sees them.
 */
export function freeTextTools({ tools }: InferenceRequest): ReadonlySet<string> {
  return new Set(tools.flatMap((tool) => (tool.type === 'opaque' && isCustom(tool.raw) ? [tool.name] : [])))
}

const isCustom = (raw: unknown): boolean => isRecord(raw) && raw['type'] === 'custom'

/** The text in a call's JSON, also of a truncated call. Anything else is returned unchanged. */
export function freeTextOf(json: string): string {
  for (const whole of [json, `${json}"}`]) {
    const input = inputOf(whole)
    if (input !== undefined) return input
  }
  return json
}

function inputOf(json: string): string | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return isRecord(value) && typeof value['input'] === 'string' ? value['input'] : undefined
  } catch {
    return undefined
  }
}
