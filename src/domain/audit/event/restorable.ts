import { isRecord } from '../../../base/record.ts'
import type { Message } from '../../inference/request.ts'
import { keptTexts, type AuditContent } from './content.ts'
import { markersIn, messagesIn } from './request-outline.ts'

/** What a request that is restored from its event lacks. */
export const restoreLosses = [
  'personal_data',
  'end_of_prompt',
  'roles',
  'parameters',
  'image',
  'file',
  'thinking',
  'tool-call',
  'tool-result',
  'refusal',
  'opaque',
] as const
export type RestoreLoss = (typeof restoreLosses)[number]

export type Restorable = {
  readonly messages: readonly { readonly role: Message['role']; readonly text: string }[]
  /** Undefined if they are not kept. */
  readonly parameters: Readonly<Record<string, unknown>> | undefined
  readonly losses: readonly RestoreLoss[]
}

/** What a request needs to be sent or evaluated again, as far as it is kept. */
export function restorableOf(content: AuditContent | undefined): Restorable {
  const { prompt = '', outline } = keptTexts(content) ?? {}
  const found = markersIn(prompt)
  const starts = outline?.messages ?? found
  const parameters = outline?.parameters === undefined ? undefined : (JSON.parse(outline.parameters) as unknown)
  // One message has one role, so there is nothing to confuse it with.
  const areRolesGuessed = outline?.messages === undefined && found.length !== 1
  const losses: readonly (RestoreLoss | false)[] = [
    content?.full === undefined && 'personal_data',
    prompt.endsWith('…') && 'end_of_prompt',
    areRolesGuessed && 'roles',
    parameters === undefined && 'parameters',
    ...(outline?.lossy ?? []),
  ]
  return {
    messages: starts.length === 0 ? [{ role: 'user', text: prompt }] : messagesIn(prompt, starts),
    parameters: isRecord(parameters) ? parameters : undefined,
    losses: losses.filter((loss) => loss !== false),
  }
}
