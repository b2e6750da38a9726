import { api, dataOf } from '../../api/client.ts'
import type { components } from '../../api/schema.d.ts'
import { useChange } from '../../api/use-change.ts'
import { definedOf, useList } from '../../api/use-list.ts'

export type AlertRule = components['schemas']['AlertRule']
export type AlertChannel = components['schemas']['AlertChannel']
export type Alert = components['schemas']['Alert']
export type RuleBody = components['schemas']['AlertRuleCreate']
type RuleUpdate = components['schemas']['AlertRuleUpdate']
export type ChannelBody = components['schemas']['AlertChannelCreate']
type ChannelUpdate = components['schemas']['AlertChannelUpdate']

export const rulesPath = '/v1/organization/alert_rules'
export const channelsPath = '/v1/organization/alert_channels'

const pageSize = 100

export const useRules = () =>
  useList<AlertRule>(['alert_rules'], (after, signal) => {
    const query = definedOf({ after, limit: pageSize })
    return dataOf(api.GET('/v1/organization/alert_rules', { params: { query }, signal }))
  })

export const useChannels = () =>
  useList<AlertChannel>(['alert_channels'], (after, signal) => {
    const query = definedOf({ after, limit: pageSize })
    return dataOf(api.GET('/v1/organization/alert_channels', { params: { query }, signal }))
  })

export const useAlerts = () =>
  useList<Alert>(['alerts'], (after, signal) => {
    const query = definedOf({ after, limit: 50 })
    return dataOf(api.GET('/v1/organization/alerts', { params: { query }, signal }))
  })

const lists = [['alert_rules'], ['alert_channels'], ['alerts']]

export const useCreateRule = (onDone: () => void) =>
  useChange({
    refresh: lists,
    onDone,
    send: (body: RuleBody): Promise<unknown> => api.POST('/v1/organization/alert_rules', { body }),
  })

export const useUpdateRule = (id: string, onDone: () => void) =>
  useChange({
    refresh: lists,
    onDone,
    send: (body: RuleUpdate): Promise<unknown> =>
      api.PATCH('/v1/organization/alert_rules/{rule_id}', { params: { path: { rule_id: id } }, body }),
  })

export const useDeleteRule = (id: string, onDone: () => void) =>
  useChange({
    refresh: lists,
    onDone,
    send: (): Promise<unknown> =>
      api.DELETE('/v1/organization/alert_rules/{rule_id}', { params: { path: { rule_id: id } } }),
  })

export const useCreateChannel = (onDone: () => void) =>
  useChange({
    refresh: lists,
    onDone,
    send: (body: ChannelBody): Promise<unknown> => api.POST('/v1/organization/alert_channels', { body }),
  })

export const useUpdateChannel = (id: string, onDone: () => void) =>
  useChange({
    refresh: lists,
    onDone,
    send: (body: ChannelUpdate): Promise<unknown> =>
      api.PATCH('/v1/organization/alert_channels/{channel_id}', { params: { path: { channel_id: id } }, body }),
  })

export const useDeleteChannel = (id: string, onDone: () => void) =>
  useChange({
    refresh: lists,
    onDone,
    send: (): Promise<unknown> =>
      api.DELETE('/v1/organization/alert_channels/{channel_id}', { params: { path: { channel_id: id } } }),
  })

export const useTestChannel = (id: string) =>
  useChange({
    refresh: lists,
    send: () =>
      dataOf(api.POST('/v1/organization/alert_channels/{channel_id}/test', { params: { path: { channel_id: id } } })),
  })
