import { Readable } from 'node:stream'
import Type, { type TObject, type TProperties } from 'typebox'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import { inTurns, toChunks } from '../../base/text-chunks.ts'
import { requirePermission, type Permission } from '../../domain/identity/permissions.ts'
import { pageOrders, type Page, type Paged } from '../../domain/identity/store.ts'
import { idText } from '../resources/fields.ts'
import { withCursorError } from '../resources/list.ts'
import { admitUntilClose } from '../resources/limit.ts'
import type { Route } from '../route.ts'
import type { Validate } from '../validate.ts'
import { csvLine, type Cell } from '../../base/csv.ts'
import { createStreamEnd, type EventStreamParts } from './event-stream.ts'

/** What every export is asked for. */
type ExportInput = {
  readonly format: (typeof formats)[number]
  readonly limit: number
  readonly order: Page['order']
  readonly after?: string
}

type ExportSpec<Input extends ExportInput, Filter> = {
  readonly name: string
  readonly path: string
  readonly permission: Permission
  readonly summary: string
  /** The name of the file that a browser saves, without its ending. */
  readonly fileName: string
  /** Of `exportQuery`, and its validator. */
  readonly query: TObject
  readonly readQuery: Validate<Input>
  readonly readFilter: (organizationId: string, input: Input) => MaybePromise<Filter>
  readonly columns: readonly string[]
  readonly example: object
}

/** Some rows of an export. */
export type ExportPageInput<Filter> = {
  readonly organizationId: string
  readonly filter: Filter
  readonly format: ExportInput['format']
  readonly page: Page
}

/** The encoded rows; `lastId` is where the next ones begin, undefined after the end. */
type EncodedPage = {
  readonly chunks: readonly string[]
  readonly count: number
  readonly lastId: string | undefined
}

/** Runs in a thread of its own, because reading and encoding thousands of rows would delay requests. */
export type ReadExportPage<Filter> = (input: ExportPageInput<Filter>) => Promise<EncodedPage>

const formats = ['ndjson', 'csv'] as const
const contentTypes = { ndjson: 'application/x-ndjson', csv: 'text/csv; charset=utf-8' } as const
const maxRows = 1_000_000
/** Few enough that a report waits only a moment for the thread while it reads them. */
const rowsPerPage = 500

/** The query of an export with these filters. */
export const exportQuery = <Filters extends TProperties>(filters: Filters) =>
  Type.Object(
    {
      format: Type.Enum([...formats], {
        default: 'ndjson',
        description:
          '`ndjson`: one JSON object a line. `csv`: for spreadsheets, with times as in ISO 8601; a text that a spreadsheet would run as a formula begins with an apostrophe.',
      }),
      limit: Type.Integer({
        minimum: 1,
        maximum: maxRows,
        default: 100_000,
        description: 'Most rows. A response with fewer rows is complete.',
      }),
      order: Type.Enum([...pageOrders], {
        default: 'desc',
        description: 'By creation time: `desc` is newest first.',
      }),
      after: Type.Optional(
        idText('The export starts after this row: the last one of an export before it.', exampleEvent),
      ),
      ...filters,
    },
    { additionalProperties: false },
  )

const exampleEvent = 'evt_01k9z8y7x6w5v4t3s2r1q0p9n8'

/** A list as a file. It is read and sent page by page, so that its size does not matter to the server. */
export function exportRoute<Input extends ExportInput, Filter>(
  parts: EventStreamParts & { readonly readPage: ReadExportPage<Filter> },
  spec: ExportSpec<Input, Filter>,
): Route {
  const readQuery = withCursorError(spec.readQuery)
  return {
    name: spec.name,
    method: 'GET',
    path: spec.path,
    summary: spec.summary,
    description: `As NDJSON or CSV, with the filters of the list. No texts of requests. A transfer that breaks off is incomplete; continue it with \`after\`.`,
    credential: 'admin_key',
    permission: spec.permission,
    query: spec.query,
    answers: {
      200: {
        description: 'One object a line, or a CSV file.',
        contentType: contentTypes.ndjson,
        schema: Type.String({ examples: [`${JSON.stringify(spec.example)}\n`] }),
      },
    },
    errorStatuses: [400, 401, 403, 422, 429, 500, 503],
    async handle(request, reply) {
      const actor = await parts.authenticate(request)
      // Not in the generator, whose `finally` never runs if the caller leaves before the first read.
      admitUntilClose(parts, actor, reply)
      requirePermission(actor.permissions, spec.permission)
      const input = readQuery(request.query)
      const { format, limit, order, after } = input
      const { id: organizationId } = actor.organization
      const filter = await spec.readFilter(organizationId, input)
      const isOver = createStreamEnd(parts, request, spec.permission)
      const source: Source = {
        limit,
        isOver,
        read: (start, most) => {
          const page = { limit: Math.min(rowsPerPage, most), order, ...(start !== undefined && { after: start }) }
          return parts.readPage({ organizationId, filter, format, page })
        },
      }
      // Before the first byte, so that a wrong cursor is an error response.
      const first = await source.read(after, limit)
      reply
        .type(contentTypes[format])
        .header('content-disposition', `attachment; filename="${spec.fileName}.${format}"`)
        .header('cache-control', 'no-store')
      const head = format === 'csv' ? csvLine(spec.columns) : ''
      return reply.send(Readable.from(textOf(head, first, source)))
    },
  }
}

type Source = {
  readonly limit: number
  readonly read: (after: string | undefined, most: number) => Promise<EncodedPage>
  readonly isOver: () => Promise<boolean>
}

/** The text, page by page. Throws if the caller may not read on, so that the transfer does not look complete. */
async function* textOf(head: string, first: EncodedPage, { limit, read, isOver }: Source): AsyncGenerator<string> {
  if (head !== '') yield head
  let page = first
  for (let left = limit - page.count; ; left -= page.count) {
    yield* inTurns(page.chunks)
    if (page.lastId === undefined || left <= 0) return
    if (await isOver()) throw new Error('the export ended early')
    page = await read(page.lastId, left)
  }
}

type ExportRows<Reads, Filter, Row, Item> = {
  /** `nextAfter` is where the next page starts, if that is not the last item. */
  readonly list: (
    reads: Reads,
    input: ExportPageInput<Filter>,
  ) => Promise<Paged<Item> & { readonly nextAfter?: string }>
  readonly present: (item: Item) => Row
  /** The cells of the columns. */
  readonly cells: (row: Row) => readonly Cell[]
}

/** Reads and encodes a page of an export. */
export function createExportPage<Reads, Filter, Row, Item extends { readonly id: string }>(
  rows: ExportRows<Reads, Filter, Row, Item>,
): (reads: Reads, input: ExportPageInput<Filter>) => Promise<EncodedPage> {
  const { list, present, cells } = rows
  const lineOf = {
    csv: (item: Item) => csvLine(cells(present(item))),
    ndjson: (item: Item) => `${JSON.stringify(present(item))}\n`,
  }
  return async (reads, input) => {
    const { items, hasMore, nextAfter } = await list(reads, input)
    return {
      chunks: toChunks(items.map(lineOf[input.format]).join('')),
      count: items.length,
      lastId: hasMore ? (nextAfter ?? items.at(-1)?.id) : undefined,
    }
  }
}
