import { findSink, type SinkAdministration } from '../../../domain/audit/export/mutations.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { GatewayRoutes } from '../routes.ts'
import { presentDeadLetter } from './present.ts'
import { sinkAt, exportPath } from './routes.ts'
import * as Schema from './schema.ts'
import type { ExportStore } from '../../../domain/audit/export/export-sink.ts'

/** Events that a destination has rejected permanently. They can be sent again after the cause is fixed. */
export function deadLetterRoutes(
  { read, mutation }: GatewayRoutes<{ readonly exports: ExportStore }>,
  exports: SinkAdministration,
): Route[] {
  return [
    read({
      name: 'listDeadLetters',
      path: `${exportPath}/dead_letters`,
      summary: 'List dead letters of an export sink',
      permission: 'exports:read',
      params: Schema.ExportParams,
      query: Schema.ExportQuery,
      answer: { description: 'A page of dead letters.', schema: Schema.DeadLetterList },
      async operation({ exports: store }, input) {
        const sink = await findSink(store, sinkAt(input))
        return presentList(await store.listDeadLetters(sink, pageOf(input.query)), presentDeadLetter)
      },
    }),
    mutation({
      name: 'replayDeadLetters',
      method: 'POST',
      path: `${exportPath}/dead_letters/replay`,
      summary: 'Send dead letters again',
      permission: 'exports:write',
      params: Schema.ExportParams,
      query: none,
      body: Schema.Replay,
      answer: { description: 'The number of events that will be sent again.', schema: Schema.ReplayAnswer },
      operation: ({ exports: store }, input) => exports.replay(store, sinkAt(input), omitUndefined(input.body).ids),
      present: (value) => value,
    }),
  ]
}
