# Run beside the client that openapi-python-client generates into `api_client`, with a gateway's address, an API key and an
# administrator key. Prints the text of a message and the names of the policies.
import json
import sys

from api_client import AuthenticatedClient
from api_client.api.administration import create_policy, list_policies
from api_client.api.messages import create_message
from api_client.models import InputMessage, InputMessageRole, Message, MessageRequest, Policy, PolicyCreate, PolicyList

url, api_key, admin_key = sys.argv[1:4]

request = MessageRequest(
    model="gatehouse-echo",
    max_tokens=50,
    messages=[InputMessage(role=InputMessageRole.USER, content="Hello")],
)
message = create_message.sync(client=AuthenticatedClient(base_url=url, token=api_key), body=request)
assert isinstance(message, Message), message

admin = AuthenticatedClient(base_url=url, token=admin_key)
policy = create_policy.sync(client=admin, body=PolicyCreate(name="No names", rule="No names."))
assert isinstance(policy, Policy), policy
policies = list_policies.sync(client=admin, limit=5)
assert isinstance(policies, PolicyList), policies

content = [block.to_dict() for block in message.content]
print(json.dumps({"content": content, "created": policy.name, "names": [each.name for each in policies.data]}))
