import type { Static } from 'typebox'
import { isRecord } from '../../../base/record.ts'
import { keptTexts, type AuditContent } from '../../../domain/audit/event/content.ts'
import { markersIn, messagesIn } from '../../../domain/audit/event/request-outline.ts'
import type { RequestContent, restoreLosses } from './content-schema.ts'

type Restorable = Pick<Static<typeof RequestContent>, 'messages' | 'parameters' | 'not_restored'>
type Loss = (typeof restoreLosses)[number]

/** What a request needs to be sent again, as far as it is kept. */
export function restorableOf(content: AuditContent | undefined): Restorable {
  const { prompt = '', outline } = keptTexts(content) ?? {}
  const found = markersIn(prompt)
  const starts = outline?.messages ?? found
  const parameters = outline?.parameters === undefined ? undefined : (JSON.parse(outline.parameters) as unknown)
  // One message has one role, so there is nothing to confuse it with.
  const areRolesGuessed = outline?.messages === undefined && found.length !== 1
  const losses: readonly (Loss | false)[] = [
    content?.full === undefined && 'personal_data',
    prompt.endsWith('…') && 'end_of_prompt',
    areRolesGuessed && 'roles',
    parameters === undefined && 'parameters',
    ...(outline?.lossy ?? []),
  ]
  return {
    messages: starts.length === 0 ? [{ role: 'user', text: prompt }] : [...messagesIn(prompt, starts)],
    parameters: isRecord(parameters) ? { ...parameters } : null,
    not_restored: losses.filter((loss) => loss !== false),
  }
}
