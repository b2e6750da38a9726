-- Frees the slots of a request. KEYS leases of key, project, organization. ARGV 1 request id
for scope = 1, 3 do
  redis.call('ZREM', KEYS[scope], ARGV[1])
end
return 'left'
