import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** Runs a NameNode and a DataNode in a directory until its input ends; prints the NameNode's two ports. */
public final class Hdfs {
    public static void main(String[] arguments) throws Exception {
        Configuration settings = new Configuration();
        settings.set("dfs.permissions.enabled", "false");
        MiniDFSCluster cluster =
                new MiniDFSCluster.Builder(settings, new File(arguments[0])).numDataNodes(1).build();
        cluster.waitActive();
        int http = cluster.getNameNode().getHttpAddress().getPort();
        System.out.println("hdfs " + cluster.getNameNodePort() + " " + http);
        System.in.read();
        cluster.shutdown();
    }
}
