import static org.codelibs.opensearch.runner.OpenSearchRunner.newConfigs;

import org.codelibs.opensearch.runner.OpenSearchRunner;

/** One node of OpenSearch on loopback, with its data in the folder and its door at the port that it is given. */
public class Peer {
  public static void main(String[] args) throws InterruptedException {
    OpenSearchRunner runner = new OpenSearchRunner();
    runner.onBuild((number, settings) -> settings.put("http.port", args[1]).put("network.host", "127.0.0.1"));
    runner.build(newConfigs().basePath(args[0]).numOfNode(1).clusterName("gatehouse-peer"));
    Thread.currentThread().join();
  }
}
