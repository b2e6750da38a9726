import { findSink, type SinkAt, type SinkAdministration } from '../../../domain/audit/export/mutations.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { pageOf, presentList } from '../../resources/list.ts'
import { contentTag } from '../../resources/entity-tag.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import type { GatewayRoutes } from '../routes.ts'
import { documentedAnswers, documentedCreate, documentedUpdate, type DocumentedSinkKind } from './documented-sinks.ts'
import { presentExport } from './present.ts'
import * as Schema from './schema.ts'
import type { ExportStore } from '../../../domain/audit/export/export-sink.ts'

const exportsPath = '/api/policy-gateway/exports'
export const exportPath = `${exportsPath}/{export_id}`

const bodyLimitBytes = 1024 * 1024

/** `/api/policy-gateway/exports`: the destinations of the audit log. */
export function exportRoutes(
  { read, mutation }: GatewayRoutes<{ readonly exports: ExportStore }>,
  exports: SinkAdministration,
  sinkKinds: readonly DocumentedSinkKind[],
): Route[] {
  const { one, list } = documentedAnswers(sinkKinds)
  const answer = { description: 'The export sink.', schema: one }
  return [
    read({
      name: 'listExportSinks',
      isManaged: true,
      path: exportsPath,
      summary: 'List export sinks',
      permission: 'exports:read',
      params: none,
      query: Schema.ExportQuery,
      answer: { description: 'A page of export sinks.', schema: list },
      operation: async ({ exports: store }, { actor, query }) =>
        presentList(await store.list(actor.organization.id, pageOf(query)), presentExport),
    }),
    mutation({
      name: 'createExportSink',
      method: 'POST',
      path: exportsPath,
      summary: 'Create an export sink',
      description:
        'The sink receives every event, starting with the event of its own creation. A sink of the type `s3` with `sends` `costs` receives a file of the costs of each finished day instead, beginning with the last 35 days. An address that is not public, plain http and an unusual port are rejected, unless the operator allows them with `exports.allow_addresses`.',
      permission: 'exports:write',
      params: none,
      query: none,
      body: Schema.NewExport,
      documentedBody: documentedCreate(sinkKinds),
      bodyLimitBytes,
      status: 201,
      answer,
      prepare: (_reads, { body }) => exports.newAddressProblems(body),
      operation: ({ exports: store }, { actor, body, prepared: addressProblems = [] }) => {
        const { type, label = '', enabled = true, config, start = 'now' } = body
        return exports.create(store, actor.organization.id, { type, label, enabled, config, start, addressProblems })
      },
      managed: ({ id }) => ({ id, kind: 'export_sink.updated' }),
      present: (sink) => ({ export: presentExport(sink) }),
    }),
    read({
      name: 'getExportSink',
      isManaged: true,
      path: exportPath,
      summary: 'Read an export sink',
      permission: 'exports:read',
      params: Schema.ExportParams,
      query: none,
      answer,
      tag: contentTag,
      operation: async ({ exports: store }, input) => ({ export: presentExport(await findSink(store, sinkAt(input))) }),
    }),
    mutation({
      name: 'updateExportSink',
      method: 'PATCH',
      path: exportPath,
      summary: 'Change an export sink',
      description:
        '`config` is merged field by field: null removes a field, and a masked secret keeps its stored value. If the destination changes, its secrets must be sent again, and its address is checked as for a new sink. A paused sink is tried again at once.',
      permission: 'exports:write',
      params: Schema.ExportParams,
      query: none,
      body: Schema.ChangedExport,
      documentedBody: documentedUpdate(sinkKinds),
      bodyLimitBytes,
      answer,
      prepare: ({ exports: store }, input) =>
        exports.changedAddressProblems(store, sinkAt(input), omitUndefined(input.body)),
      operation: ({ exports: store }, { prepared: addressProblems = [], ...input }) =>
        exports.update(store, sinkAt(input), { ...omitUndefined(input.body), addressProblems }),
      managed: ({ id }) => ({ id, kind: 'export_sink.updated' }),
      present: (sink) => ({ export: presentExport(sink) }),
    }),
    mutation({
      name: 'deleteExportSink',
      method: 'DELETE',
      path: exportPath,
      summary: 'Delete an export sink',
      permission: 'exports:write',
      params: Schema.ExportParams,
      query: none,
      body: none,
      answer: { description: 'The id of the deleted export sink.', schema: Schema.DeletedExport },
      operation: ({ exports: store }, input) => exports.remove(store, sinkAt(input)),
      removes: ({ id }) => ({ id }),
      present: ({ id }) => ({ export: { id, deleted: true } }),
    }),
  ]
}

type SinkInput = {
  readonly actor: { readonly organization: { readonly id: string } }
  readonly params: { readonly export_id: string }
}

export const sinkAt = ({ actor, params }: SinkInput): SinkAt => ({
  organizationId: actor.organization.id,
  id: params.export_id,
})
