/**
 * Tools of Anthropic that the caller itself runs: bash, text editor and memory. Their type stands for a schema that only
 * Anthropic's models know, so for other upstreams each becomes a function with the published arguments.
 */
import type { Tool } from '../../../domain/inference/request.ts'
import type { JsonRecord } from '../json-values.ts'
import { asRecord, asText } from '../json-values.ts'

type OpaqueTool = Extract<Tool, { type: 'opaque' }>
type ClientTool = { readonly name: string; readonly description: string; readonly parameters: JsonRecord }

/** Undefined for any other tool. */
export function functionForClientTool({ dialect, name, raw }: OpaqueTool): ClientTool | undefined {
  if (dialect !== 'messages') return undefined
  const [, kind = '', version = ''] = /^(bash|text_editor|memory)_(\d{8})$/.exec(asText(asRecord(raw)?.['type'])) ?? []
  const definition = definitions.get(kind)?.(Number(version))
  return definition && { name, ...definition }
}

type Definition = Omit<ClientTool, 'name'>

const text = (description: string): JsonRecord => ({ type: 'string', description })

const parametersOf = (
  commands: readonly string[],
  properties: JsonRecord,
  required: readonly string[],
): JsonRecord => ({
  type: 'object',
  properties: { command: { type: 'string', enum: commands, description: 'The command to run.' }, ...properties },
  required: ['command', ...required],
})

const viewRange = {
  type: 'array',
  items: { type: 'integer' },
  minItems: 2,
  maxItems: 2,
  description: 'For `view`: the first and last line, counted from 1. -1 as the last line is the end of the file.',
}
const insertLine = {
  type: 'integer',
  description: 'For `insert`: the line after which the text is inserted. 0 is the start.',
}

const bash = (): Definition => ({
  description: 'Runs a command in a bash session that keeps its state between calls.',
  parameters: {
    type: 'object',
    properties: {
      command: text('The command to run. Required unless `restart` is true.'),
      restart: { type: 'boolean', description: 'True to restart the session.' },
    },
  },
})

/** The first versions could undo an edit. The last one has a field of its own for inserted text. */
function textEditor(version: number): Definition {
  const undo = version < 20250429 ? ['undo_edit'] : []
  const hasInsertText = version >= 20250728
  const inserted = hasInsertText ? { insert_text: text('For `insert`: the text to insert.') } : {}
  return {
    description: 'Views, creates and edits text files.',
    parameters: parametersOf(
      ['view', 'create', 'str_replace', 'insert', ...undo],
      {
        path: text('The path of the file or directory.'),
        view_range: viewRange,
        file_text: text('For `create`: the content of the new file.'),
        old_str: text('For `str_replace`: the text to replace. It must occur exactly once.'),
        new_str: text(`For \`str_replace\`${hasInsertText ? '' : ' and `insert`'}: the new text.`),
        insert_line: insertLine,
        ...inserted,
      },
      ['path'],
    ),
  }
}

const memory = (): Definition => ({
  description: 'Reads and writes files under /memories that are kept between conversations. View /memories first.',
  parameters: parametersOf(
    ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'],
    {
      path: text('The path of the file or directory, for every command except `rename`.'),
      view_range: viewRange,
      file_text: text('For `create`: the content of the file.'),
      old_str: text('For `str_replace`: the text to replace.'),
      new_str: text('For `str_replace`: the new text.'),
      insert_line: insertLine,
      insert_text: text('For `insert`: the text to insert.'),
      old_path: text('For `rename`: the path now.'),
      new_path: text('For `rename`: the path after it.'),
    },
    [],
  ),
})

const definitions: ReadonlyMap<string, (version: number) => Definition> = new Map([
  ['bash', bash],
  ['text_editor', textEditor],
  ['memory', memory],
])
